-- Converts untrusted text to lines of a buffer: nothing in it may affect the terminal, the editor,
-- or the interpretation of the surrounding text.

local M = {}

---Longer lines slow down every redraw; they are truncated, with a note.
M.max_line = 4000 -- bytes

---Characters that change the text direction, so that the text can read as something else.
local bidi = {
  ['\216\156'] = '<061c>',
  ['\226\128\142'] = '<200e>',
  ['\226\128\143'] = '<200f>',
  ['\226\128\170'] = '<202a>',
  ['\226\128\171'] = '<202b>',
  ['\226\128\172'] = '<202c>',
  ['\226\128\173'] = '<202d>',
  ['\226\128\174'] = '<202e>',
  ['\226\129\166'] = '<2066>',
  ['\226\129\167'] = '<2067>',
  ['\226\129\168'] = '<2068>',
  ['\226\129\169'] = '<2069>',
}

---Returns the visible symbol of a control character.
---@param char string
local function symbol(char)
  local code = char:byte()
  return code == 0x7f and '␡' or vim.fn.nr2char(0x2400 + code)
end

---Returns at most the given number of bytes from the start of a text, without splitting a
---character.
---@param text string
---@param bytes integer
function M.head(text, bytes)
  if #text <= bytes then
    return text
  end
  while bytes > 0 and text:byte(bytes + 1) >= 0x80 and text:byte(bytes + 1) < 0xc0 do
    bytes = bytes - 1
  end
  return text:sub(1, bytes)
end

---Replaces control and direction characters in a line.
---@param line string
---@return string
local function harmless(line)
  if line:find('[%z\1-\8\10-\31\127]') then
    line = line:gsub('[%z\1-\8\10-\31\127]', symbol)
  end
  if line:find('\194[\128-\159]') then
    line = line:gsub('\194[\128-\159]', '·')
  end
  if line:find('\216\156') then
    line = line:gsub('\216\156', bidi)
  end
  if line:find('\226[\128\129]') then
    line = line:gsub('\226[\128\129][\128-\191]', bidi)
  end
  return line
end

---Returns one line, safe to show.
---@param line string without a line break
---@return string
function M.line(line)
  if #line > M.max_line then
    local size = #line
    line = ('%s … [a line of %d bytes]'):format(M.head(line, M.max_line), size)
  end
  return harmless(line)
end

---Returns a complete text as lines, for a user who has to approve it: long lines are wrapped
---instead of truncated.
---@param text string
---@return string[]
function M.whole(text)
  local lines = {}
  for _, line in ipairs(vim.split(text:gsub('\r\n', '\n'), '\n', { plain = true })) do
    repeat
      local piece = M.head(line, M.max_line)
      lines[#lines + 1] = harmless(piece)
      line = line:sub(#piece + 1)
    until line == ''
  end
  return lines
end

---Returns a text on one line, without its middle if it is long: the end of a command matters as
---much as its beginning.
---@param text string
---@param max integer bytes
---@return string
---@return boolean all whether the text is complete
function M.clip(text, max)
  text = text:gsub('%s+', ' ')
  if #text <= max then
    return harmless(text), true
  end
  local head = M.head(text, math.floor(max / 2))
  local from = #text - math.floor(max / 2) + 1
  while from <= #text and text:byte(from) >= 0x80 and text:byte(from) < 0xc0 do
    from = from + 1
  end
  local left = from - 1 - #head
  return harmless(('%s… %d bytes …%s'):format(head, left, text:sub(from))), false
end

---Returns a text as lines, safe to show.
---@param text string
---@return string[]
function M.lines(text)
  local lines = vim.split(text:gsub('\r\n', '\n'), '\n', { plain = true })
  for i, line in ipairs(lines) do
    lines[i] = M.line(line)
  end
  return lines
end

---Returns a text on one line.
---@param text string
---@param max? integer bytes
---@return string
function M.one_line(text, max)
  text = text:gsub('%s+', ' ')
  local short = M.head(text, max or 200)
  return M.line(short) .. (#short < #text and '…' or '')
end

---Returns a text that fits on one screen line.
---@param text string
---@param cells integer
---@param more string appended to a truncated text
---@return string line
---@return boolean fits
function M.fit(text, cells, more)
  local line = harmless((vim.trim(text):gsub('%s*\n%s*', ' ')))
  if vim.api.nvim_strwidth(line) <= cells then
    return line, not text:find('\n', 1, true)
  end
  local room = math.max(cells - vim.api.nvim_strwidth(more), 1)
  return vim.fn.strcharpart(line, 0, room):gsub('%s+$', '') .. more, false
end

---Splits a line into pieces of at most that many screen cells.
---@param line string
---@param cells integer
---@return string[]
function M.pieces(line, cells)
  local pieces = {}
  repeat
    local count = math.max(cells, 1)
    while count > 1 and vim.api.nvim_strwidth(vim.fn.strcharpart(line, 0, count)) > cells do
      count = count - 1
    end
    pieces[#pieces + 1] = vim.fn.strcharpart(line, 0, count)
    line = vim.fn.strcharpart(line, count)
  until line == ''
  return pieces
end

---Returns a fence that no line can close.
---@param lines string[]
---@return string
function M.fence(lines)
  local longest = 2
  for _, line in ipairs(lines) do
    for run in line:gmatch('`+') do
      longest = math.max(longest, #run)
    end
  end
  return ('`'):rep(longest + 1)
end

---Returns the Markdown fence that is still open after the lines, so that it can be closed.
---@param lines string[]
---@return string?
function M.open_fence(lines)
  local open ---@type string?
  for _, line in ipairs(lines) do
    local run, rest = line:match('^ ? ? ?(```+)(.*)$')
    if not run then
      run, rest = line:match('^ ? ? ?(~~~+)(.*)$')
    end
    if run and not open then
      if run:sub(1, 1) == '~' or not rest:find('`', 1, true) then
        open = run
      end
    elseif run and run:sub(1, 1) == open:sub(1, 1) and #run >= #open and rest:find('^%s*$') then
      open = nil
    end
  end
  return open
end

return M
