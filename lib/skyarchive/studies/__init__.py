"""Studies of published archives: what watching live would cost."""
