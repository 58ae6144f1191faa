"""Best, fastest and dynamic trees."""
