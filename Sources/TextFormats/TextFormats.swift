// TextFormats: begun.
