-- References in a prompt: @path, @path:10-20, @buffer and @diagnostics. The text stays as it is;
-- the files are attached to the message.

local wire = require('xcsh.wire')

local M = {}

---More files or diagnostics are neither offered nor attached.
local max_files, max_diagnostics = 200, 100

---@class xcsh.chat.Reference
---@field path string
---@field first? integer
---@field last? integer

---Returns the window's file that the user edited last; nil if there is none.
---@param chat xcsh.chat.Chat
---@return string? path
local function edited(chat)
  local best, newest ---@type string?, integer
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 })) do
    local is_file = vim.bo[info.bufnr].buftype == '' and info.name ~= ''
    if is_file and (not newest or info.lastused > newest) then
      best, newest = info.name, info.lastused
    end
  end
  -- The window beside the chat decides if several buffers were used in the same second.
  local before = vim.fn.winbufnr(vim.fn.winnr('#'))
  for _, bufnr in ipairs({ before, vim.fn.bufnr('#') }) do
    local name = bufnr > 0 and vim.api.nvim_buf_get_name(bufnr) or ''
    if name ~= '' and vim.bo[bufnr].buftype == '' and bufnr ~= chat.bufnr then
      return name
    end
  end
  return best
end

---@param chat xcsh.chat.Chat
---@param path string
---@return string relative to the chat's folder, if it is there
local function shown(chat, path)
  local root = chat.cwd:gsub('/*$', '/')
  return vim.startswith(path, root) and path:sub(#root + 1) or path
end

---Returns the beginning of a reference before the cursor, and the byte before it.
---@return string? base with its "@", integer? start
function M.typed()
  local _, col = unpack(vim.api.nvim_win_get_cursor(0))
  local line = vim.api.nvim_get_current_line():sub(1, col)
  local start, base = line:match('()(@[^%s"]*)$')
  if start and (start == 1 or line:sub(start - 1, start - 1):find('%s')) then
    return base, start - 1
  end
end

---Returns the paths in a directory that begin with a text.
---@param chat xcsh.chat.Chat
---@param typed string
---@return string[]
local function files(chat, typed)
  local folder, name = typed:match('^(.*/)([^/]*)$')
  folder, name = folder or '', name or typed
  local is_absolute = folder:find('^[/~]') ~= nil
  local dir = is_absolute and vim.fs.normalize(folder) or vim.fs.joinpath(chat.cwd, folder)
  local found = {}
  for entry, kind in vim.fs.dir(dir) do
    local begins = vim.startswith(entry:lower(), name:lower())
    local is_hidden = vim.startswith(entry, '.') and not vim.startswith(name, '.')
    if begins and not is_hidden and not entry:find('[%s%c"]') then
      found[#found + 1] = folder .. entry .. (kind == 'directory' and '/' or '')
    end
  end
  table.sort(found)
  return found
end

---Returns open files whose paths contain a text.
---@param chat xcsh.chat.Chat
---@param typed string
---@return string[]
local function open_files(chat, typed)
  local found = {}
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
    local path = shown(chat, info.name)
    local plain = info.name ~= '' and vim.bo[info.bufnr].buftype == '' and not path:find('[%s%c"]')
    if plain and path:lower():find(typed:lower(), 1, true) then
      found[#found + 1] = path
    end
  end
  return found
end

---Returns the references that begin with a text, as items of a completion.
---@param chat xcsh.chat.Chat
---@param base string with its "@"
---@return table[]
function M.items(chat, base)
  local typed, found, seen = base:sub(2), {}, {}
  local function put(word, menu)
    if not seen[word] and #found < max_files then
      seen[word] = true
      local after = vim.endswith(word, '/') and '' or ' '
      found[#found + 1] = { word = '@' .. word .. after, abbr = '@' .. word, menu = menu, dup = 1 }
    end
  end
  local current = edited(chat)
  if vim.startswith('buffer', typed) and current then
    put('buffer', require('xcsh.text').one_line(shown(chat, current), 60))
  end
  if vim.startswith('diagnostics', typed) then
    put('diagnostics', ('%d in open files'):format(#vim.diagnostic.get()))
  end
  for _, path in ipairs(open_files(chat, typed)) do
    put(path, 'open')
  end
  for _, path in ipairs(files(chat, typed)) do
    put(path)
  end
  return found
end

---@param chat xcsh.chat.Chat
---@param word string without the "@"
---@return xcsh.chat.Reference?
local function file_of(chat, word)
  local candidates = { { path = word } }
  local path, first, last = word:match('^(.+):(%d+)%-(%d+)$')
  if not path then
    path, first = word:match('^(.+):(%d+)$')
  end
  if path then
    candidates[2] = { path = path, first = tonumber(first), last = tonumber(last or first) }
  end
  for _, candidate in ipairs(candidates) do
    local full = candidate.path:find('^[/~]') and vim.fs.normalize(candidate.path)
      or vim.fs.joinpath(chat.cwd, candidate.path)
    local stat = vim.uv.fs_stat(full)
    if stat and stat.type == 'file' then
      candidate.path = full
      return candidate
    end
  end
end

---@type table<integer, string>
local severities = { 'error', 'warning', 'information', 'hint' }

---Returns the diagnostics of the chat's folder as text, the worst first.
---@param chat xcsh.chat.Chat
---@return string
local function diagnostics(chat)
  local lines, all = {}, vim.diagnostic.get()
  table.sort(all, function(a, b)
    return a.severity < b.severity
  end)
  for _, found in ipairs(all) do
    local path = shown(chat, vim.api.nvim_buf_get_name(found.bufnr))
    if not path:find('^[/~]') and #lines < max_diagnostics then
      local line = '- %s:%d:%d: %s: %s'
      local message = require('xcsh.text').one_line(found.message, 300)
      lines[#lines + 1] =
        line:format(path, found.lnum + 1, found.col + 1, severities[found.severity], message)
    end
  end
  return 'Diagnostics in the editor:\n' .. (#lines > 0 and table.concat(lines, '\n') or '- none')
end

---@param reference xcsh.chat.Reference
local function attachment(reference)
  local attached = { uri = vim.uri_from_fname(reference.path) }
  if reference.first then
    -- To the end of the last line, however long it is.
    attached.range = {
      start = { line = math.max(reference.first, 1) - 1, character = 0 },
      ['end'] = { line = math.max(reference.last, reference.first, 1), character = 0 },
    }
  end
  return attached
end

---Returns the words of a text that are references, without their "@".
---@param text string
---@return string[]
local function words_of(text)
  local words = {}
  for quoted in (' ' .. text):gmatch('%s@"([^"\n]+)"') do
    words[#words + 1] = quoted
  end
  for word in (' ' .. text):gmatch('%s@([^%s"]+)') do
    words[#words + 1] = word
    local plain = word:gsub('[.,;:!?)]+$', '') -- the sentence goes on after it
    if plain ~= word then
      words[#words + 1] = plain
    end
  end
  return words
end

---Returns a prompt with what its references add to the text, and the files to be attached. A word
---that names no file stays text.
---@param chat xcsh.chat.Chat
---@param text string
---@return string text, table[] attachments
function M.resolve(chat, text)
  local attachments, seen, said = {}, {}, text
  for _, word in ipairs(words_of(text)) do
    local reference
    if word == 'diagnostics' and not seen[word] then
      said = said .. '\n\n' .. diagnostics(chat)
    elseif word == 'buffer' then
      local path = edited(chat)
      reference = path and { path = path }
    else
      reference = file_of(chat, word)
    end
    local key = reference and ('%s:%s'):format(reference.path, reference.first or '') or word
    if reference and not seen[key] then
      attachments[#attachments + 1] = attachment(reference)
    end
    seen[key] = true
  end
  return said, attachments
end

---Returns the image that a pasted text is the path of, as when a file is dropped on the terminal.
---@param text string
---@return string? path
function M.image_path(text)
  local path = vim.trim(text):gsub('^[\'"](.*)[\'"]$', '%1')
  if vim.startswith(path, 'file://') then
    path = vim.uri_to_fname(path)
  end
  path = path:gsub('\\(.)', '%1')
  local is_image = path:lower():find('%.(%w+)$')
    and vim.tbl_contains({ 'png', 'jpg', 'jpeg', 'gif', 'webp' }, path:lower():match('%.(%w+)$'))
  local stat = is_image and path:find('^[/~]') and vim.uv.fs_stat(vim.fs.normalize(path))
  return stat and stat.type == 'file' and not path:find('["%c]') and path or nil
end

---Commands that write the image of the clipboard to standard output.
local clipboards = {
  { 'wl-paste', '--no-newline', '--type', 'image/png' },
  { 'xclip', '-selection', 'clipboard', '-target', 'image/png', '-o' },
  { 'pngpaste', '-' },
}

local max_image = 10 * 1024 * 1024 -- bytes

---Attaches the image of the clipboard to the next message.
---@param chat xcsh.chat.Chat
function M.paste_image(chat)
  local view = require('xcsh.view')
  local command = vim.iter(clipboards):find(function(candidate)
    return vim.fn.executable(candidate[1]) == 1
  end)
  if not command then
    return view.error({ message = 'To paste an image, install wl-clipboard, xclip or pngpaste.' })
  end
  vim.system(command, { timeout = 5000 }, function(done)
    vim.schedule(function()
      local data = wire.str(done.stdout)
      if done.code ~= 0 or data:sub(1, 8) ~= '\137PNG\r\n\26\n' then
        return view.notify('There is no image in the clipboard.')
      elseif #data > max_image then
        return view.error({ message = 'The image in the clipboard is larger than 10 MB.' })
      end
      require('xcsh.chat.input').attach(chat, {
        image = { data = vim.base64.encode(data), mimeType = 'image/png' },
        label = ('image, %d kB'):format(math.ceil(#data / 1000)),
      })
    end)
  end)
end

local paste = vim.paste

---Inserts the path of a dropped image as a reference. See |vim.paste()|.
vim.paste = function(lines, phase)
  local chat = require('xcsh.chat').of_buffer(vim.api.nvim_get_current_buf())
  local in_prompt = chat and chat.input == vim.api.nvim_get_current_buf()
  local path = in_prompt and phase == -1 and #lines == 1 and M.image_path(lines[1])
  if path then
    lines = { path:find('%s') and ('@"%s" '):format(path) or ('@%s '):format(path) }
  end
  return paste(lines, phase)
end

return M
