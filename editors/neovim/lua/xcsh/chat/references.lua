-- References in a prompt: @path, @path:10-20, @buffer and others. Here they are completed; the
-- server reads them when the prompt is sent.

local context = require('xcsh.context')
local wire = require('xcsh.wire')

local M = {}

---More files are not offered.
local max_files = 200

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
    local path = context.shown(info.name, chat.cwd)
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
      local after = word:find('[/:]$') and '' or ' '
      found[#found + 1] = { word = '@' .. word .. after, abbr = '@' .. word, menu = menu, dup = 1 }
    end
  end
  for _, named in ipairs(context.named(chat.cwd)) do
    if vim.startswith(named.word, typed) then
      put(named.word, named.menu)
    end
  end
  for _, path in ipairs(open_files(chat, typed)) do
    put(path, 'open')
  end
  for _, path in ipairs(files(chat, typed)) do
    put(path)
  end
  return found
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
