// The web client of in-app messages, as the compiler reads it: one for each name in "messages" (a test compares). #embed is of C23.
#include "console_assets.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char client_js[] = {
#embed "messages/client.js"
};
static const unsigned char draw_js[] = {
#embed "messages/draw.js"
};
static const unsigned char server_js[] = {
#embed "messages/server.js"
};
static const unsigned char style_css[] = {
#embed "messages/style.css"
};

static const console_asset assets[] = {
  {"client.js", client_js, sizeof client_js},
  {"draw.js", draw_js, sizeof draw_js},
  {"server.js", server_js, sizeof server_js},
  {"style.css", style_css, sizeof style_css},
};

const size_t message_asset_count = sizeof assets / sizeof assets[0];

console_asset message_asset_at(size_t index) { return assets[index]; }
