-- Converts positions between the units of language servers: each counts the characters of a line as
-- bytes, UTF-16 units or characters, and Neovim counts bytes.

local wire = require('xcsh.wire')

local M = {}

---Lines of larger files are not read; their positions stay as they are.
local max_file = 4 * 1024 * 1024

-- The functions have other parameters from 0.11 on.
local has_names = vim.fn.has('nvim-0.11') == 1

---@param line string
---@param index integer
---@param encoding string
---@return integer byte
local function to_byte(line, index, encoding)
  if encoding == 'utf-8' then
    return math.min(index, #line)
  elseif has_names then
    return vim.str_byteindex(line, encoding, index, false)
  end
  local ok, byte = pcall(vim.str_byteindex, line, index, encoding == 'utf-16')
  return ok and byte or #line
end

---@param line string
---@param byte integer
---@param encoding string
---@return integer
local function from_byte(line, byte, encoding)
  byte = math.min(byte, #line)
  if encoding == 'utf-8' then
    return byte
  elseif has_names then
    return vim.str_utfindex(line, encoding, byte, false)
  end
  local chars, units = vim.str_utfindex(line, byte)
  return encoding == 'utf-16' and units or chars
end

---Returns a line of a file, "" if it is unknown. The text of a loaded buffer counts.
---@param uri string
---@param row integer from 0
---@return string
local function line_of(uri, row)
  if not vim.startswith(uri, 'file:') then
    return ''
  end
  local path = vim.uri_to_fname(uri)
  local bufnr = vim.fn.bufnr(path)
  local is_loaded = bufnr > 0 and vim.api.nvim_buf_is_loaded(bufnr)
  if is_loaded and vim.api.nvim_buf_get_name(bufnr) == path then
    return vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ''
  end
  local size = vim.fn.getfsize(path)
  if size <= 0 or size > max_file then
    return ''
  end
  return vim.fn.readfile(path, '', row + 1)[row + 1] or ''
end

---@param uri string
---@param position any
---@param from string
---@param to string
---@return xcsh.wire.EditorPosition
function M.position(uri, position, from, to)
  position = wire.tbl(position)
  local row, column = wire.num(position.line), wire.num(position.character)
  if from ~= to and column > 0 then
    local line = line_of(uri, row)
    if line:find('[\128-\255]') then
      column = from_byte(line, to_byte(line, column, from), to)
    end
  end
  return { line = row, character = column }
end

---@param uri string
---@param range any
---@param from string
---@param to string
---@return xcsh.wire.EditorRange
function M.range(uri, range, from, to)
  range = wire.tbl(range)
  return {
    start = M.position(uri, range.start, from, to),
    ['end'] = M.position(uri, range['end'], from, to),
  }
end

---@param uri string
---@param edits any
---@param from string
---@param to string
local function text_edits(uri, edits, from, to)
  return vim.tbl_map(function(edit)
    return { range = M.range(uri, edit.range, from, to), newText = edit.newText }
  end, wire.tbl(edits))
end

---@param edit any a WorkspaceEdit
---@param from string
---@param to string
---@return xcsh.wire.EditorWorkspaceEdit
function M.edit(edit, from, to)
  edit = wire.tbl(edit)
  local converted = {}
  if type(edit.documentChanges) == 'table' then
    converted.documentChanges = vim.tbl_map(function(change)
      local document = wire.tbl(change.textDocument)
      local uri = wire.str(document.uri)
      return {
        textDocument = { uri = uri },
        edits = text_edits(uri, change.edits, from, to),
        kind = type(change.kind) == 'string' and change.kind or nil,
      }
    end, edit.documentChanges)
  elseif type(edit.changes) == 'table' then
    converted.changes = vim.empty_dict()
    for uri, edits in pairs(edit.changes) do
      converted.changes[uri] = text_edits(uri, edits, from, to)
    end
  end
  return next(converted) and converted or vim.empty_dict()
end

---Returns the problems of a buffer.
---@param bufnr integer
---@param to string
---@return xcsh.wire.EditorDiagnostic[]
function M.diagnostics(bufnr, to)
  local function at(row, column)
    local line = vim.api.nvim_buf_is_loaded(bufnr)
        and vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1]
      or ''
    return { line = row, character = from_byte(line, column, to) }
  end
  return vim.tbl_map(function(found)
    return {
      range = {
        start = at(found.lnum, found.col),
        ['end'] = at(found.end_lnum or found.lnum, found.end_col or found.col),
      },
      severity = found.severity,
      message = found.message,
      source = found.source,
      code = found.code,
    }
  end, vim.diagnostic.get(bufnr))
end

---Returns the problems of some lines as their language servers reported them.
---@param bufnr integer
---@param first integer from 0
---@param last integer
function M.known(bufnr, first, last)
  local known = {}
  for _, found in ipairs(vim.diagnostic.get(bufnr)) do
    local lsp = wire.tbl(wire.tbl(found.user_data).lsp)
    if lsp.range and found.lnum >= first and found.lnum <= last then
      table.insert(known, lsp)
    end
  end
  return known
end

return M
