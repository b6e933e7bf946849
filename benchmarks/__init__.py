"""Speed of jaxmbs beside that of other engines; see README.md in this folder."""
