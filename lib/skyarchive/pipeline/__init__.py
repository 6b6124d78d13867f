"""How steps run: one ceremony for all, over periods; what stands and what is stale."""
