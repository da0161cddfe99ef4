"""Results of every claim at several parameter values, computed once and stored for the web pages."""
