"""The steps' transforms: frames in, frames out."""
