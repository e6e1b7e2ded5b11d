/* The main of an image: prints what it was given. */

#include <stdio.h>
#include <string.h>

int image_main(int argc, char** argv, char** envp);

int image_main(int argc, char** argv, char** envp)
{
    for (int i = 0; i < argc; i++) {
        printf("argument %zu:%s\n", strlen(argv[i]), argv[i]);
        memset(argv[i], 'x', strlen(argv[i]));
    }
    printf("argv[argc] %s\n", argv[argc] ? "set" : "null");
    printf("envp[0] %s\n", *envp ? "set" : "null");
    return 42;
}
