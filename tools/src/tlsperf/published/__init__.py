"""Tables as their sources published them."""
