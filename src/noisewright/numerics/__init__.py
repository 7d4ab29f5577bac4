"""One formula, two number systems: floats for search, balls for proof."""
