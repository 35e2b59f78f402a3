#include "cbuild.h"

#define CBUILD_TEXT_OF(words) #words
#define CBUILD_TEXT(words) CBUILD_TEXT_OF(words)

const char *cbuild_commit(void) {
#ifdef DOUBLOON_COMMIT
  return CBUILD_TEXT(DOUBLOON_COMMIT);
#else
  return "";
#endif
}
