/* The symbol table of an image, read from its own file a piece at a time. Signal-safe, all of it, errno aside. */
#ifndef OKHOST_SYMTAB_H
#define OKHOST_SYMTAB_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMTAB_WINDOW 4096u /* bytes of the string table a read: linkers write names in the order of the symbols */

struct plan;

struct symtab {
    const struct plan *plan;
    int fd;
    char window[SYMTAB_WINDOW]; /* window_size bytes of the string table, from its byte window_at */
    uint64_t window_at;
    size_t window_size;
    uint64_t names_end; /* past the last NUL of the string table: no name that begins here or later has an end */
};

enum { SYMTAB_NO_RANK = ~0u };

/* Begin to read the table of a plan's image.
 * Ensures:  true; false when fd is no longer the file that the plan was made from. */
bool symtab_open(struct symtab *table, const struct plan *plan, int fd);

/* Give every symbol, in the order of the table, as far as it can be read. */
void symtab_each(const struct symtab *table, void (*each)(void *argument, const Elf64_Sym *symbol), void *argument);

/* Whether a symbol can be an answer, its name aside.                                           SPEC: SYM-2 */
bool symtab_can_answer(const Elf64_Sym *symbol);

/* Where such a symbol stands among aliases, 0 first; SYMTAB_NO_RANK where its name is no answer. SPEC: SYM-2, SYM-5 */
unsigned symtab_rank(struct symtab *table, const Elf64_Sym *symbol);

/* Copy up to cap bytes of the name at a place of the string table; the length of all of it, without the version that
 * linkers add in .symtab. No NUL is added.                                                      SPEC: SYM-9 */
size_t symtab_name(struct symtab *table, uint64_t at, char *out, size_t cap);

#endif
