"""The update log into intervals during which nobody beats an object."""
