"""Results of every claim at several values of its parameters, computed once and stored for the pages."""
