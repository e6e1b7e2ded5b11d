#define BY_ABORT
#include "bare.c"
