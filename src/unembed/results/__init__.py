"""The versioned result schema, reading and writing it, and the verdict."""
