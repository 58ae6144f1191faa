"""What pytest loads wherever otspec is installed, so that nothing else is imported from here."""

pytest_plugins = ("otspec.testing.plugin",)
"""By this name, so that pytest has the plugin once, however often it is asked for."""
