"""Reports on opponents: their tables, measures and sections; leads, differences and faults."""
