/* Imports a name that is not on the surface. */
int printf(const char* format, ...);
int _start(void);

int _start(void)
{
    return printf("no code of this image may run\n");
}
