#define BY_EXIT
#include "bare.c"
