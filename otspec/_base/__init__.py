"""The lowest floor: arithmetic, argument checks, frozen values, registries, writing."""
