// The console's files, packed by Scripts/console_pack.py. #embed is of C23.
#include "console_assets.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char archive[] = {
#embed "console.tar.gz"
};

const size_t console_archive_count = sizeof archive;

const unsigned char *console_archive(void) { return archive; }
