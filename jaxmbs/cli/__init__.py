"""Parts of the command line; `jaxmbs._cli` is where it starts."""
