package snapshot

// The constants below repeat the tables of format.md. A test compares the two.

// Magic is the first bytes of every snapshot.
const Magic = "bindsnap"

// Version is the version of the format. A reader rejects all other versions.
const Version = 3

// The header is one block of headerSize bytes:
//
//	 0  magic     8 bytes
//	 8  version   u32
//	12  sections  u32  number of sections
//	16  size      u64  size of the file in bytes
//	24  seed      u64  of the hash of keys and category values
//	32  digest   32 bytes, SHA-256 of everything after the header
//	64  keys      u32  number of keys
//	68  levels    u32  number of levels
//	72  values    u32  number of block values
//	76  recipes   u32  number of recipes
//	80  bindings  u64  number of bindings composed
//	88  features  u64  one bit per optional feature, see featureSealed and others
//	96  section table: per section offset u64, length u64, xxhash64 u64
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
	offFeatures   = 88
	offSectionTab = 96
	offHeaderSum  = 504
	sectionEntry  = 24
	sectionAlign  = 64
)

// section is the number of a section of the file.
type section int

const (
	secMeta      section = iota // all that Open reads: layers, dimensions and levels, with the location of their data
	secPilots                   // perfect hash of the keys
	secKeys                     // key records, then the cells that they refer to
	secDicts                    // per dimension: the dictionary of the values in conditions
	secScopes                   // per level: the directory of its scopes
	secTables                   // per scope of a wide level: keys and values
	secBlockTab                 // offsets of the blocks, and of the values in them
	secBlocks                   // zstd blocks of large values
	secRecipeTab                // offsets of the recipes
	secRecipes                  // recipes of computed values
	secInputs                   // the files the site was read from
	secOriginTab                // offsets of the blocks of origins
	secOrigins                  // zstd blocks: origins of bindings, and bindings that no lookup finds
	secSeal                     // the encrypted key that opens the sealed recipes; only with featureSealed
	sectionCount
)

// The features of a file. featureSealed: recipes may be sealed, and there is a section seal. featureSlice: section meta
// lists the requests that the file is for. featureHiera: section meta ends with each layer's place in the Hiera 5
// hierarchies. featureARM8: recipes may use ARM-8 operations.
const (
	featureSealed = 1 << 0
	featureSlice  = 1 << 1
	featureHiera  = 1 << 2
	featureARM8   = 1 << 3

	knownFeatures = featureSealed | featureSlice | featureHiera | featureARM8
)

// These flags share a byte with the Hiera 5 part of a layer.
const (
	hieraOnlyPath  = 1 << 4
	hieraOnlyEntry = 1 << 5
)

func sectionsOf(features uint64) int {
	if features&featureSealed != 0 {
		return int(sectionCount)
	}
	return int(secSeal)
}

var sectionNames = [sectionCount]string{"meta", "pilots", "keys", "dicts", "scopes", "tables", "blocktab", "blocks",
	"recipetab", "recipes", "inputs", "origintab", "origins", "seal"}

func (s section) String() string { return sectionNames[s] }

// A key record has one bit per column. A column is one scope of a narrow level, or a wide level as a whole. Columns
// are in order of precedence. Levels become narrow, those with the fewest scopes first, while the total is at most
// maxColumns. If a site has more levels than maxColumns, all are wide, and each bit of a record covers several
// columns.
const maxColumns = 64

// A key record is 64 bytes, one cache line:
//
//	 0  mask     u64  the columns that bind the key; with more than 64, bit i covers columns i, i+64, ...
//	 8  default  u32  value reference of the unconditional binding
//	12  list     u32  even offset in the section of the value references of the narrow columns, u32 each, in the
//	                  order of columns; with more than 64 columns: of the exact mask; 0 if there is neither.
//	                  Bit 0: section origins has candidates of the key that no lookup finds
//	16  length   u8   of the key, or 255: at 20 its length u32, at 24 its cell u32
//	17  the key, at most 47 bytes
//
// A cell is an offset/2 in section keys. The rest of a record, from the first multiple of 2 after the key, contains
// the list and then the encoded default, each if it fits.
const (
	cellUnit     = 2
	keyRecord    = 64
	recMask      = 0
	recDefault   = 8
	recList      = 12
	recLength    = 16
	recText      = 17
	recLongLen   = 20
	recLongCell  = 24
	recLongTail  = 28
	longKey      = 255
	listHidden   = 1 // bit 0 of the field list
	maxInlineKey = keyRecord - recText
)

// Flags in section meta: of the whole file, of a dimension and of a level.
const (
	metaStrict = 1 // using an unknown variable is an error

	dimensionGuard = 1
	dimensionExact = 2 // values are case-sensitive

	levelNarrow = 1 // each scope is a column; otherwise the level is one column and its scopes have tables
	levelDirect = 2 // the directory is indexed by the number of the value
)

// Tables store key numbers as u16 if there are at most maxShortKeys keys, and otherwise as u32.
const maxShortKeys = 1 << 16

// Limits of a writer. With maxStored, no number of a block value equals noRef.
const (
	maxKeys   = 1 << 24
	maxStored = 1<<30 - 1
)

// Sections addressed by offset/4 have at most maxSection bytes. Section keys has at most maxCells bytes, because a cell
// has 30 bits.
const (
	maxSection = 4 << 30
	maxCells   = cellUnit << 30
)

// maxChain is the maximum length of a chain in a scope directory. It keeps a forged chain from keeping a request
// busy.
const maxChain = 256

// A value reference has 32 bits. The two highest bits are its kind.
//
//	00  cell of the encoded value
//	01  the value itself: bits 0-1 are 0 for undef, false, true, default (0 to 3 in bits 2-29), 1 for an integer of
//	    28 bits
//	10  number of a recipe
//	11  number of a value in a block; all bits set: no value
const (
	refCell   = 0 << 30
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

// Values of at least blockFrom encoded bytes are stored in blocks of about blockSize bytes before compression.
const (
	blockFrom = 512
	blockSize = 16 << 10
)
