"""Which cut of drafts is fastest at each load: thresholds for chains, and dynamic trees."""
