"""What an archive is: the model of its YAML file, and the catalog of all that there are."""
