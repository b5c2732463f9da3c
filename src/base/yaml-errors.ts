// Words for the errors of the YAML library, whose own texts may quote the file.
const misplacedAlias = 'a misplaced alias or anchor';
const misplaced = 'a value that does not fit the values around it';
const oddKey = 'a key that is not one line of plain text';
const oddTag = 'an unsupported tag (a word that begins with !), or a value that its tag does not allow';
const unexpected = 'unexpected text';

export const wordsForErrors = {
  ALIAS_PROPS: misplacedAlias,
  BAD_ALIAS: misplacedAlias,
  MULTIPLE_ANCHORS: misplacedAlias,
  BAD_DIRECTIVE: 'an unknown directive',
  BAD_DQ_ESCAPE: 'an unknown escape in double quotes',
  BAD_INDENT: 'wrong indentation, or a bracket above is not closed',
  BAD_PROP_ORDER: misplaced,
  BLOCK_AS_IMPLICIT_KEY: misplaced,
  BLOCK_IN_FLOW: misplaced,
  BAD_COLLECTION_TYPE: misplaced,
  BAD_SCALAR_START: 'a text that needs quotes because of its first character',
  DUPLICATE_KEY: 'a repeated key',
  KEY_OVER_1024_CHARS: oddKey,
  MULTILINE_IMPLICIT_KEY: oddKey,
  NON_STRING_KEY: oddKey,
  MISSING_CHAR: 'a bracket, quote, comma or colon is missing',
  MULTIPLE_TAGS: oddTag,
  TAG_RESOLVE_FAILED: oddTag,
  RESOURCE_EXHAUSTION: 'nesting too deep',
  TAB_AS_INDENT: 'indentation with a tab instead of spaces',
  IMPOSSIBLE: unexpected,
  MULTIPLE_DOCS: unexpected,
  UNEXPECTED_TOKEN: unexpected,
} as const;
