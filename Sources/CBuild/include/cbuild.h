// What a build knows of itself, and the sources do not.
#ifndef CBUILD_H
#define CBUILD_H

// The commit that the program was built from, as hexadecimal digits; empty where nobody said it (Scripts/release does).
const char *cbuild_commit(void);

#endif
