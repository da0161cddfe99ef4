"""Laws from data: sparse equations, what noise does to them, and what they are worth outside the data."""
