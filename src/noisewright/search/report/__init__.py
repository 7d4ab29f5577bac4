"""What a design returns: ranked candidates, tables, pictures, progress."""
