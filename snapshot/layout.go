package snapshot

// The constants below are the tables of format.md; a test compares the two.

// Magic begins every snapshot.
const Magic = "bindsnap"

// Version is the version of the format. A reader refuses every other.
const Version = 1

// The header is one block of headerSize bytes:
//
//	 0  magic     8 bytes
//	 8  version   u32
//	12  sections  u32  number of sections
//	16  size      u64  size of the file in bytes
//	24  seed      u64  of the hash of keys and category values
//	32  digest   32 bytes, SHA-256 of everything behind the header
//	64  keys      u32  number of keys
//	68  levels    u32  number of levels
//	72  values    u32  number of block values
//	76  recipes   u32  number of recipes
//	80  bindings  u64  number of bindings composed
//	88  section table: per section offset u64, length u64, xxhash64 u64
//	    zero bytes
//	504 xxhash64 of the 504 bytes before it
//
// All numbers are little endian. Sections begin at multiples of 64 bytes, in the order of their numbers.
const (
	headerSize    = 512
	offVersion    = 8
	offSections   = 12
	offSize       = 16
	offSeed       = 24
	offDigest     = 32
	offKeys       = 64
	offLevels     = 68
	offBlockVals  = 72
	offRecipes    = 76
	offBindings   = 80
	offSectionTab = 88
	offHeaderSum  = 504
	sectionEntry  = 24
	sectionAlign  = 64
)

// section numbers one part of the file.
type section int

const (
	secMeta      section = iota // layers, dimensions with their programs
	secPilots                   // perfect hash of the keys
	secKeys                     // key records
	secKeyText                  // texts of keys too long for their record
	secLevels                   // level records and, behind them, their scope directories
	secDicts                    // per dimension: the values that occur
	secMasks                    // level masks of keys, where there are more than 64 levels
	secTables                   // per scope: keys and values
	secHeap                     // small values
	secBlockTab                 // where the values in blocks are, where the blocks are
	secBlocks                   // zstd blocks of large values
	secRecipeTab                // where the recipes are
	secRecipes                  // computed values
	secInputs                   // the files the site was read from
	sectionCount
)

var sectionNames = [sectionCount]string{"meta", "pilots", "keys", "keytext", "levels", "dicts", "masks", "tables", "heap", "blocktab", "blocks", "recipetab", "recipes", "inputs"}

func (s section) String() string { return sectionNames[s] }

// A key record is 64 bytes, one cache line:
//
//	 0  mask     u64  the levels that bind the key; with more than 64 levels, bit i stands for levels i, i+64, ...
//	 8  default  u32  value reference of the unconditional binding
//	12  masks    u32  with more than 64 levels: index of the exact mask in section masks
//	16  length   u8   of the key, or 255: at 20 its length u32, at 24 its offset in section keytext u64
//	17  the key, at most 47 bytes, zero padded
const (
	keyRecord    = 64
	recMask      = 0
	recDefault   = 8
	recMasks     = 12
	recLength    = 16
	recText      = 17
	recLongLen   = 20
	recLongOff   = 24
	longKey      = 255
	maxInlineKey = keyRecord - recText
)

// A level record is 16 bytes, followed in the section by the scope directories they point to:
//
//	 0  layer     u16
//	 2  dims      u16  number of dimensions
//	 4  first     u32  offset/4 in section levels of the dimensions (u32 each)
//	 8  directory u32  offset/4 in section levels of the scope directory
//	12  slots     u32  number of directory slots, a power of two; with no dimensions: offset/4 in section tables, or noRef
//
// A directory slot is dims value numbers (u32 each, from section dicts) and the scope's offset/4 in section tables plus
// one (u32), zero when the slot is free. Slots are probed linearly from hash(value numbers).
const levelRecord = 16

// A value reference is 32 bits. The two highest say what the rest is.
//
//	00  offset/4 in section heap
//	01  the value itself: bits 0-1 are 0 for undef, false, true, default (0 to 3 in bits 2-29), 1 for an integer of 28 bits
//	10  number of a recipe
//	11  number of a value in a block; all bits set: no value
const (
	refHeap   = 0 << 30
	refInline = 1 << 30
	refRecipe = 2 << 30
	refBlock  = 3 << 30
	refKind   = 3 << 30
	noRef     = 1<<32 - 1

	inlineSpecial = 0
	inlineInt     = 1
	inlineMin     = -1 << 27
	inlineMax     = 1<<27 - 1
)

// Values of at least blockFrom encoded bytes go to blocks of about blockSize bytes before compression.
const (
	blockFrom = 512
	blockSize = 16 << 10
)
