#pragma once
#include <stddef.h>

/// How many bytes the archive of the console's files has.
extern const size_t console_archive_count;

/// The archive: a tar file, packed as gzip.
const unsigned char *console_archive(void);

/// One file of the web client of in-app messages, as it is in the program.
typedef struct {
  const char *name;
  const unsigned char *bytes;
  size_t count;
} console_asset;

/// How many files the web client of in-app messages has.
extern const size_t message_asset_count;

/// Its files, in the order of their names.
console_asset message_asset_at(size_t index);
