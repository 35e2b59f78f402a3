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
