/* What the parts of impl/ tell one another. */
#ifndef OKHOST_IMPL_LIBRARY_H
#define OKHOST_IMPL_LIBRARY_H

/* The library's okrun_impl_begin, or null: what implementation_begin() calls. */
void library_keep_begin(void *function);

#endif
