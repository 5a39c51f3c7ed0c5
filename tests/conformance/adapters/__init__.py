"""Other libraries' interfaces, with bpelab underneath: so that what their tests check can be checked here."""
