#pragma once
#include <stddef.h>

/// One file of the console, as it is in the program.
typedef struct {
  const char *name;
  const unsigned char *bytes;
  size_t count;
} console_asset;

/// How many there are.
extern const size_t console_asset_count;

/// The files, in the order of their names.
console_asset console_asset_at(size_t index);

/// How many files the web client of in-app messages has.
extern const size_t message_asset_count;

/// Its files, in the order of their names.
console_asset message_asset_at(size_t index);
