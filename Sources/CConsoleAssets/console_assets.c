// The files of the console, as the compiler reads them: one for each name in "assets" (a test compares). #embed is of C23.
#include "console_assets.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char account_js[] = {
#embed "assets/account.js"
};
static const unsigned char accounts_js[] = {
#embed "assets/accounts.js"
};
static const unsigned char api_js[] = {
#embed "assets/api.js"
};
static const unsigned char app_js[] = {
#embed "assets/app.js"
};
static const unsigned char audit_js[] = {
#embed "assets/audit.js"
};
static const unsigned char base_js[] = {
#embed "assets/base.js"
};
static const unsigned char chart_js[] = {
#embed "assets/chart.js"
};
static const unsigned char code_js[] = {
#embed "assets/code.js"
};
static const unsigned char console_css[] = {
#embed "assets/console.css"
};
static const unsigned char console_webmanifest[] = {
#embed "assets/console.webmanifest"
};
static const unsigned char data_js[] = {
#embed "assets/data.js"
};
static const unsigned char dialogs_js[] = {
#embed "assets/dialogs.js"
};
static const unsigned char diff_js[] = {
#embed "assets/diff.js"
};
static const unsigned char dom_js[] = {
#embed "assets/dom.js"
};
static const unsigned char editor_js[] = {
#embed "assets/editor.js"
};
static const unsigned char event_js[] = {
#embed "assets/event.js"
};
static const unsigned char events_js[] = {
#embed "assets/events.js"
};
static const unsigned char frame_js[] = {
#embed "assets/frame.js"
};
static const unsigned char functions_js[] = {
#embed "assets/functions.js"
};
static const unsigned char history_js[] = {
#embed "assets/history.js"
};
static const unsigned char icon_svg[] = {
#embed "assets/icon.svg"
};
static const unsigned char icons_js[] = {
#embed "assets/icons.js"
};
static const unsigned char index_html[] = {
#embed "assets/index.html"
};
static const unsigned char json_js[] = {
#embed "assets/json.js"
};
static const unsigned char linkform_js[] = {
#embed "assets/linkform.js"
};
static const unsigned char links_js[] = {
#embed "assets/links.js"
};
static const unsigned char list_js[] = {
#embed "assets/list.js"
};
static const unsigned char live_js[] = {
#embed "assets/live.js"
};
static const unsigned char menu_js[] = {
#embed "assets/menu.js"
};
static const unsigned char messageform_js[] = {
#embed "assets/messageform.js"
};
static const unsigned char messages_js[] = {
#embed "assets/messages.js"
};
static const unsigned char outcomes_js[] = {
#embed "assets/outcomes.js"
};
static const unsigned char overview_js[] = {
#embed "assets/overview.js"
};
static const unsigned char pages_css[] = {
#embed "assets/pages.css"
};
static const unsigned char parts_js[] = {
#embed "assets/parts.js"
};
static const unsigned char player_js[] = {
#embed "assets/player.js"
};
static const unsigned char replays_js[] = {
#embed "assets/replays.js"
};
static const unsigned char review_js[] = {
#embed "assets/review.js"
};
static const unsigned char rewards_js[] = {
#embed "assets/rewards.js"
};
static const unsigned char rules_js[] = {
#embed "assets/rules.js"
};
static const unsigned char ruletext_js[] = {
#embed "assets/ruletext.js"
};
static const unsigned char search_js[] = {
#embed "assets/search.js"
};
static const unsigned char settings_js[] = {
#embed "assets/settings.js"
};
static const unsigned char signin_js[] = {
#embed "assets/signin.js"
};
static const unsigned char start_js[] = {
#embed "assets/start.js"
};
static const unsigned char time_js[] = {
#embed "assets/time.js"
};
static const unsigned char transfer_js[] = {
#embed "assets/transfer.js"
};
static const unsigned char tree_js[] = {
#embed "assets/tree.js"
};
static const unsigned char ui_js[] = {
#embed "assets/ui.js"
};

static const console_asset assets[] = {
  {"account.js", account_js, sizeof account_js},
  {"accounts.js", accounts_js, sizeof accounts_js},
  {"api.js", api_js, sizeof api_js},
  {"app.js", app_js, sizeof app_js},
  {"audit.js", audit_js, sizeof audit_js},
  {"base.js", base_js, sizeof base_js},
  {"chart.js", chart_js, sizeof chart_js},
  {"code.js", code_js, sizeof code_js},
  {"console.css", console_css, sizeof console_css},
  {"console.webmanifest", console_webmanifest, sizeof console_webmanifest},
  {"data.js", data_js, sizeof data_js},
  {"dialogs.js", dialogs_js, sizeof dialogs_js},
  {"diff.js", diff_js, sizeof diff_js},
  {"dom.js", dom_js, sizeof dom_js},
  {"editor.js", editor_js, sizeof editor_js},
  {"event.js", event_js, sizeof event_js},
  {"events.js", events_js, sizeof events_js},
  {"frame.js", frame_js, sizeof frame_js},
  {"functions.js", functions_js, sizeof functions_js},
  {"history.js", history_js, sizeof history_js},
  {"icon.svg", icon_svg, sizeof icon_svg},
  {"icons.js", icons_js, sizeof icons_js},
  {"index.html", index_html, sizeof index_html},
  {"json.js", json_js, sizeof json_js},
  {"linkform.js", linkform_js, sizeof linkform_js},
  {"links.js", links_js, sizeof links_js},
  {"list.js", list_js, sizeof list_js},
  {"live.js", live_js, sizeof live_js},
  {"menu.js", menu_js, sizeof menu_js},
  {"messageform.js", messageform_js, sizeof messageform_js},
  {"messages.js", messages_js, sizeof messages_js},
  {"outcomes.js", outcomes_js, sizeof outcomes_js},
  {"overview.js", overview_js, sizeof overview_js},
  {"pages.css", pages_css, sizeof pages_css},
  {"parts.js", parts_js, sizeof parts_js},
  {"player.js", player_js, sizeof player_js},
  {"replays.js", replays_js, sizeof replays_js},
  {"review.js", review_js, sizeof review_js},
  {"rewards.js", rewards_js, sizeof rewards_js},
  {"rules.js", rules_js, sizeof rules_js},
  {"ruletext.js", ruletext_js, sizeof ruletext_js},
  {"search.js", search_js, sizeof search_js},
  {"settings.js", settings_js, sizeof settings_js},
  {"signin.js", signin_js, sizeof signin_js},
  {"start.js", start_js, sizeof start_js},
  {"time.js", time_js, sizeof time_js},
  {"transfer.js", transfer_js, sizeof transfer_js},
  {"tree.js", tree_js, sizeof tree_js},
  {"ui.js", ui_js, sizeof ui_js},
};

const size_t console_asset_count = sizeof assets / sizeof assets[0];

console_asset console_asset_at(size_t index) { return assets[index]; }
