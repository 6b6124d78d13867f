"""The commands of `skyarchive`, by what people do with them; each module registers its own."""
