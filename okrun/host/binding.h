/* What an import of the image is bound to. */
#ifndef OKHOST_BINDING_H
#define OKHOST_BINDING_H

#include <stddef.h>

struct binding {
    const char *name;
    int interface; /* its position, or -1 for a function of none */
    void *impl;    /* the function itself: what an image that is not measured calls; null where there is none */
    void *count;   /* the same, counted */
    void *calls;   /* the same, counted and timed */
};

#ifdef OKHOST_IMPL /* a library's functions are known when it is loaded */
#define BINDINGS struct binding
#else
#define BINDINGS const struct binding
#endif

extern BINDINGS host_bindings[]; /* by KAL_INDEX_ number; what this program does not know has no name */
extern const size_t host_binding_count;

/* The binding of a function by its name, or null where the implementation does not answer it. */
const struct binding *binding_find(const char *name);

#endif
