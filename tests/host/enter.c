/* The call into the image: its stack, its frame pointer, and a return that trusts no register. */
#include <stdint.h>

#include "check.h"
#include "good_plan.h"
#include "load.h"

static void *lo, *hi;
static uintptr_t seen_sp, seen_fp;

/* Written in assembly: what the stack and frame pointers are at a function's first instruction; and a function that,
 * against the psABI, preserves no register. */
int first_instruction(void);
int vandal(void);

#if HOST_MACHINE == 62
__asm__(".text\n"
        ".globl first_instruction, vandal\n"
        ".type first_instruction, %function\n"
        ".type vandal, %function\n"
        "first_instruction:\n"
        "  mov %rsp, seen_sp_(%rip)\n"
        "  mov %rbp, seen_fp_(%rip)\n"
        "  mov $-300, %eax\n"
        "  ret\n"
        "vandal:\n"
        "  xor %ebx, %ebx\n  xor %ebp, %ebp\n  xor %r12d, %r12d\n"
        "  xor %r13d, %r13d\n  xor %r14d, %r14d\n  xor %r15d, %r15d\n"
        "  mov $7, %eax\n"
        "  ret\n"
        ".local seen_sp_, seen_fp_\n"
        ".comm seen_sp_, 8, 8\n"
        ".comm seen_fp_, 8, 8\n");
#define AT_ENTRY(sp) ((sp) + 8) /* the return address was pushed */
#else
__asm__(".text\n"
        ".globl first_instruction, vandal\n"
        ".type first_instruction, %function\n"
        ".type vandal, %function\n"
        "first_instruction:\n"
        "  adrp x9, seen_sp_\n  mov x10, sp\n  str x10, [x9, :lo12:seen_sp_]\n"
        "  adrp x9, seen_fp_\n  str x29, [x9, :lo12:seen_fp_]\n"
        "  mov w0, #-300\n"
        "  ret\n"
        "vandal:\n"
        "  mov x19, #0\n  mov x20, #0\n  mov x21, #0\n  mov x22, #0\n  mov x23, #0\n  mov x24, #0\n"
        "  mov x25, #0\n  mov x26, #0\n  mov x27, #0\n  mov x28, #0\n  mov x29, #0\n"
        "  movi v8.2d, #0\n  movi v15.2d, #0\n"
        "  mov w0, #7\n"
        "  ret\n"
        ".local seen_sp_, seen_fp_\n"
        ".comm seen_sp_, 8, 8\n"
        ".comm seen_fp_, 8, 8\n");
#define AT_ENTRY(sp) (sp)
#endif

static void read_seen(void)
{
#if HOST_MACHINE == 62
    __asm__ volatile("mov seen_sp_(%%rip), %0\n mov seen_fp_(%%rip), %1" : "=r"(seen_sp), "=r"(seen_fp));
#else
    __asm__ volatile("adrp %0, seen_sp_\n ldr %0, [%0, :lo12:seen_sp_]\n"
                     "adrp %1, seen_fp_\n ldr %1, [%1, :lo12:seen_fp_]"
                     : "=&r"(seen_sp), "=&r"(seen_fp));
#endif
}

static void image_starts_at_the_top_of_its_stack(void)
{
    CHECK(enter((uintptr_t)first_instruction, hi, NULL) == -300);
    read_seen();
    CHECK(AT_ENTRY(seen_sp) == (uintptr_t)hi && AT_ENTRY(seen_sp) % 16 == 0);
    CHECK(seen_fp == 0);
}

static void registers_that_were_not_preserved_do_no_harm(void)
{
    volatile double eight = 8.5;
    volatile int sum = 0;

    for (int i = 0; i < 5; i++)
        sum += enter((uintptr_t)vandal, hi, NULL) * (i + 1);
    CHECK(sum == 7 * 15 && eight == 8.5);
}

static int deep(int n)
{
    volatile char block[4096];

    block[0] = (char)n;
    return n == 0 ? 0 : deep(n - 1) + (block[0] == (char)n);
}

static int use_the_stack(void)
{
    return deep(200); /* of 1 MiB */
}

static void all_of_the_stack_is_the_images(void)
{
    CHECK(enter((uintptr_t)use_the_stack, hi, NULL) == 200);
}

static void *inner_lo, *inner_hi;

static int call_inside(void)
{
    volatile int inner = enter((uintptr_t)vandal, inner_hi, NULL);

    return inner + enter((uintptr_t)use_the_stack, inner_hi, NULL);
}

/* Each call finds its own way back. */
static void calls_nest(void)
{
    struct refusal why;

    CHECK(map_stack(16 * PLAN_PAGE, &inner_lo, &inner_hi, &why));
    CHECK(enter((uintptr_t)call_inside, hi, NULL) == 207);
}

int main(void)
{
    struct refusal why;

    CHECK(map_stack(16 * PLAN_PAGE, &lo, &hi, &why));
    image_starts_at_the_top_of_its_stack();
    registers_that_were_not_preserved_do_no_harm();
    all_of_the_stack_is_the_images();
    calls_nest();
    return 0;
}
