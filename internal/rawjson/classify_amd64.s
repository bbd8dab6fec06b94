//go:build !purego

#include "textflag.h"

#define REPEATED(name, bytes) \
	DATA name<>+0(SB)/8, $bytes \
	DATA name<>+8(SB)/8, $bytes \
	GLOBL name<>(SB), RODATA|NOPTR, $16

REPEATED(quote, 0x2222222222222222)
REPEATED(slash, 0x5C5C5C5C5C5C5C5C)
REPEATED(letterN, 0x6E6E6E6E6E6E6E6E)
REPEATED(letterR, 0x7272727272727272)
REPEATED(letterT, 0x7474747474747474)
REPEATED(control, 0x1F1F1F1F1F1F1F1F) // and every byte below

// CLASSIFY takes the 16 bytes at off: their bits go to the registers named, and what is a
// control character is added to X7.
#define CLASSIFY(off, quotes, slashes, letters) \
	MOVOU    off(SI), X0 \
	MOVO     X0, X1      \
	PCMPEQB  X8, X1      \
	PMOVMSKB X1, quotes  \
	MOVO     X0, X2      \
	PCMPEQB  X9, X2      \
	PMOVMSKB X2, slashes \
	MOVO     X0, X3      \
	MOVO     X0, X4      \
	MOVO     X0, X5      \
	PCMPEQB  X10, X3     \
	PCMPEQB  X11, X4     \
	PCMPEQB  X12, X5     \
	POR      X4, X3      \
	POR      X5, X3      \
	PMOVMSKB X3, letters \
	PMAXUB   X13, X0     \
	PCMPEQB  X13, X0     \
	POR      X0, X7

// JOIN puts four times 16 bits together in a.
#define JOIN(a, b, c, d) \
	SHLQ $16, b \
	SHLQ $32, c \
	SHLQ $48, d \
	ORQ  b, a   \
	ORQ  d, c   \
	ORQ  c, a

// func classify(text *[64]byte) (quotes, slashes, letters uint64, control bool)
TEXT ·classify(SB), NOSPLIT, $0-33
	MOVQ  text+0(FP), SI
	MOVOU quote<>(SB), X8
	MOVOU slash<>(SB), X9
	MOVOU letterN<>(SB), X10
	MOVOU letterR<>(SB), X11
	MOVOU letterT<>(SB), X12
	MOVOU control<>(SB), X13
	PXOR  X7, X7
	CLASSIFY(0, AX, R8, R12)
	CLASSIFY(16, BX, R9, R13)
	CLASSIFY(32, CX, R10, DI)
	CLASSIFY(48, DX, R11, SI)
	JOIN(AX, BX, CX, DX)
	JOIN(R8, R9, R10, R11)
	JOIN(R12, R13, DI, SI)
	MOVQ  AX, quotes+8(FP)
	MOVQ  R8, slashes+16(FP)
	MOVQ  R12, letters+24(FP)
	PMOVMSKB X7, AX
	TESTL AX, AX
	SETNE control+32(FP)
	RET
