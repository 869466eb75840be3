"""What connects urex to other libraries."""
