/* What an import of the image is bound to. */
#ifndef OKHOST_BINDING_H
#define OKHOST_BINDING_H

#include <stddef.h>

struct binding {
    const char *name;
    int interface; /* its position, or -1 for a function of none */
    void *impl;    /* the function itself: what an image that is not measured calls */
    void *count;   /* the same, counted */
    void *calls;   /* the same, counted and timed */
};

extern const struct binding host_bindings[]; /* in no order that is promised: look names up with binding_find() */
extern const size_t host_binding_count;

/* The binding of a function of this host by its name, or null where the host does not answer it. */
const struct binding *binding_find(const char *name);

#endif
