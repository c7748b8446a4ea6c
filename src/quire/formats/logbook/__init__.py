"""Read, fill and write logbooks: notebooks as Markdown templates."""
