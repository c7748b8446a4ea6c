"""Where logs are KEPT. `store` has the protocol; one module for each kind of store."""
