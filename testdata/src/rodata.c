/* rodata: MIB MiB of read-only data that it does not touch, all but the last byte. Status: that byte, 7. */

#ifndef MIB
#define MIB 64
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

int _start(void);

extern const volatile unsigned char data[(unsigned long)MIB << 20] __attribute__((visibility("hidden")));

__asm__(".section .rodata.data,\"a\"\n"
        ".local data\n"
        ".type data,%object\n"
        ".size data," TEXT(MIB) "<<20\n"
        "data: .fill " TEXT(MIB) "<<20,1,7\n"
        ".previous");

int _start(void)
{
    return data[((unsigned long)MIB << 20) - 1];
}
