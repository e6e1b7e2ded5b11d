/* pointers: COUNT pointers that a loader has to relocate. Status 0 when each is right, else 1.
 * Linked three ways: with DT_RELA, with DT_RELR, and with 100,000 of them. It imports nothing. */

#ifndef COUNT
#define COUNT 100
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

int _start(void);

static char target[COUNT];
extern char* const table[COUNT] __attribute__((visibility("hidden")));

__asm__(".section .data.rel.ro.table,\"aw\"\n"
        ".balign 8\n"
        ".local table\n"
        ".type table,%object\n"
        ".size table," TEXT(COUNT) "*8\n"
        "table:\n"
        ".set i,0\n"
        ".rept " TEXT(COUNT) "\n"
        ".quad target+i\n"
        ".set i,i+1\n"
        ".endr\n"
        ".previous");

int _start(void)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (table[i] != target + i)
            return 1;
    return 0;
}
