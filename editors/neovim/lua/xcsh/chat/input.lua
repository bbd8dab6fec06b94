-- The prompt of a chat: a buffer with the prompt history.

local client = require('xcsh.client')
local prompt = require('xcsh.chat.prompt')
local wire = require('xcsh.wire')

local M = {}

local namespace = vim.api.nvim_create_namespace('xcsh_prompt')

---A proposed prompt is cut here.
local max_proposal = 100 * 1024 -- bytes

---Prompts sent from here, by folder, newest last.
---@type table<string, string[]>
local sent = {}

---Prompts from before this chat, including other programs, newest last.
---@type table<integer, string[]>
local earlier = {}

---The history position of each prompt; nil is the draft.
---@type table<integer, { at: integer, draft: string }?>
local browsing = {}

---@param cwd string
---@return integer bufnr
function M.create(cwd)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, 'xcsh://prompt' .. cwd)
  vim.bo[bufnr].bufhidden = 'hide'
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].modeline = false
  vim.bo[bufnr].filetype = 'xcsh-prompt'
  require('xcsh.chat.slash').set(bufnr)
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    buffer = bufnr,
    callback = function()
      local chat = require('xcsh.chat').of_buffer(bufnr)
      if chat then
        M.hint(chat)
        require('xcsh.chat.slash').typed(chat)
      end
    end,
  })
  require('xcsh.history').recent(cwd, function(prompts)
    earlier[bufnr] = prompts
  end)
  return bufnr
end

---@param chat xcsh.chat.Chat
---@return string
function M.text(chat)
  return table.concat(vim.api.nvim_buf_get_lines(chat.input, 0, -1, false), '\n')
end

---Replaces the text in one change, so that one undo restores it.
---@param chat xcsh.chat.Chat
---@param text string
function M.set(chat, text)
  local lines = vim.split(text, '\n', { plain = true })
  vim.api.nvim_buf_set_lines(chat.input, 0, -1, false, lines)
  for _, window in ipairs(vim.fn.win_findbuf(chat.input)) do
    vim.api.nvim_win_set_cursor(window, { #lines, #lines[#lines] })
  end
end

---Shows a hint in an empty prompt.
---@param chat xcsh.chat.Chat
function M.hint(chat)
  if not vim.api.nvim_buf_is_valid(chat.input) then
    return
  end
  vim.api.nvim_buf_clear_namespace(chat.input, namespace, 0, -1)
  local slash = M.text(chat) == '/' and require('xcsh.chat.slash').hint(chat)
  if slash then
    vim.api.nvim_buf_set_extmark(chat.input, namespace, 0, 0, {
      virt_text = { { ' ' .. slash, 'XcshHint' } },
      virt_text_pos = 'eol',
    })
  elseif M.text(chat) == '' then
    local hint = 'Ask anything'
    if chat.state.running then
      local steers = require('xcsh.chat.windows').can(chat, 'steer')
      hint = steers and 'Add to the running task…' or 'Queue a message…'
    end
    vim.api.nvim_buf_set_extmark(chat.input, namespace, 0, 0, {
      virt_text = { { hint, 'XcshHint' } },
      virt_text_pos = 'overlay',
    })
  end
end

---Returns earlier prompts: of other sessions, of this one, and from here, newest last.
---@param chat xcsh.chat.Chat
---@return string[]
local function history(chat)
  local all, seen = {}, {}
  local function put(said)
    if said ~= '' and not seen[said] then
      seen[said] = true
      table.insert(all, 1, said)
    end
  end
  local mine = sent[chat.cwd] or {}
  for i = #mine, 1, -1 do
    put(mine[i])
  end
  local items = chat.state.items
  for i = #items, 1, -1 do
    if prompt.is(items[i].message) then
      put(vim.trim(prompt.words(items[i])))
    end
  end
  local before = earlier[chat.input] or {}
  for i = #before, 1, -1 do
    put(before[i])
  end
  return all
end

---Steps through earlier prompts. Returns false at either end.
---@param chat xcsh.chat.Chat
---@param step -1|1
function M.browse(chat, step)
  local all = history(chat)
  local now = browsing[chat.input] or { at = #all + 1, draft = M.text(chat) }
  local at = math.min(now.at, #all + 1) + step
  if at < 1 or at > #all + 1 then
    return false
  end
  browsing[chat.input] = at <= #all and { at = at, draft = now.draft } or nil
  M.set(chat, at <= #all and all[at] or now.draft)
  return true
end

---Takes a text that an extension of the engine proposes as the next prompt, if the prompt is empty.
---@param chat xcsh.chat.Chat
---@param text string
function M.propose(chat, text)
  if not vim.api.nvim_buf_is_valid(chat.input) or M.text(chat) ~= '' or text == '' then
    return
  end
  -- The user sends what is visible.
  local lines = require('xcsh.text').whole(require('xcsh.text').head(text, max_proposal))
  M.set(chat, table.concat(lines, '\n'))
end

---Inserts returned messages before the draft.
---@param chat xcsh.chat.Chat
---@param texts string[]
function M.give_back(chat, texts)
  if #texts > 0 then
    local draft = M.text(chat)
    M.set(chat, table.concat(texts, '\n\n') .. (draft ~= '' and '\n\n' .. draft or ''))
  end
end

---@class xcsh.chat.Attachment a range of lines of a file, or an image
---@field uri? string
---@field range? { start: table, end: table }
---@field image? xcsh.wire.PromptImage
---@field label string

---Returns lines of the current buffer as an attachment.
---@param first integer
---@param last integer
---@return xcsh.chat.Attachment?
function M.lines(first, last)
  local path = vim.api.nvim_buf_get_name(0)
  if vim.bo.buftype ~= '' or path == '' then
    require('xcsh.view').error({ message = 'Only lines of a file can be attached.' })
    return nil
  end
  local ends = #vim.fn.getline(last)
  return {
    uri = vim.uri_from_fname(path),
    range = {
      start = { line = first - 1, character = 0 },
      ['end'] = { line = last - 1, character = math.max(ends, 1) },
    },
    label = ('%s:%d-%d'):format(vim.fs.basename(path), first, last),
  }
end

---Attaches lines to the next message.
---@param chat xcsh.chat.Chat
---@param lines xcsh.chat.Attachment
function M.attach(chat, lines)
  table.insert(chat.attached, lines)
  vim.cmd.redrawstatus({ bang = true })
end

---Reports whether a message has reached the session.
---@param chat xcsh.chat.Chat
---@param text string
local function arrived(chat, text)
  local items = chat.state.items
  for i = #items, math.max(1, #items - 20), -1 do
    local said = prompt.is(items[i].message) and prompt.words(items[i]) or ''
    -- The message begins with the files that are sent with it.
    if said == text or vim.endswith(said, '\n' .. text) then
      return true
    end
  end
  return false
end

---@param chat xcsh.chat.Chat
---@param text string
---@param behavior 'steer'|'followUp'
local function send(chat, text, behavior)
  local files, images, attached = {}, {}, chat.attached
  chat.attached = {}
  for _, lines in ipairs(attached) do
    if lines.image then
      images[#images + 1] = lines.image
    else
      files[#files + 1] = { uri = lines.uri, range = lines.range }
    end
  end
  local args = { cwd = chat.cwd, text = text, streamingBehavior = behavior }
  args.attachments = #files > 0 and files or nil
  args.images = #images > 0 and images or nil
  chat.unanswered[text] = true
  local intent = require('xcsh.intent').begin(true)
  intent:finish()
  client.execute('xcsh.prompt', args, function(err, result)
    chat.unanswered[text] = nil
    if not err then
      return require('xcsh.chat').note(chat, result)
    end
    local kind = wire.str(wire.tbl(err.data).kind)
    local accepted = arrived(chat, text)
    -- The conversation shows these errors: in place of the answer, or at its end.
    local shown = accepted and (kind == 'provider' or kind == 'limit')
    local lacks = not accepted and require('xcsh.ways').lacks(err)
    if kind ~= 'cancelled' and not shown and not lacks then
      require('xcsh.chat').notice(chat, err.message, true)
    end
    if not lacks then
      require('xcsh.choices').after_error(chat.cwd, err)
    end
    -- A message that never reached the session must not be lost.
    if accepted then
      return
    end
    chat.attached = vim.list_extend(vim.list_slice(attached), chat.attached)
    -- The end of its turn may have returned it already.
    if not vim.tbl_contains(chat.returned, text) and vim.api.nvim_buf_is_valid(chat.input) then
      M.give_back(chat, { text })
    end
    vim.cmd.redrawstatus({ bang = true })
    if lacks then
      require('xcsh.chat.ready').refused(chat, text, err, intent)
    end
  end)
end

---Returns a message as the user wrote it. The server returns it after the files attached to it.
---@param chat xcsh.chat.Chat
---@param text string
local function as_written(chat, text)
  for written in pairs(chat.unanswered) do
    if vim.endswith(text, '\n' .. written) then
      return written
    end
  end
  return text
end

---Puts the messages that a failed turn returned back into the prompt. After a stop, they are in the
---result of the command.
---@param chat xcsh.chat.Chat
---@param event table
function M.follow(chat, event)
  if event.type == 'agent_start' then
    chat.returned = {}
  elseif event.type == 'agent_end' and event.stopReason ~= 'aborted' then
    chat.returned = vim.tbl_map(function(text)
      return as_written(chat, text)
    end, wire.texts(event.unanswered))
    if vim.api.nvim_buf_is_valid(chat.input) then
      M.give_back(chat, chat.returned)
    end
  elseif event.type == 'prefill' then
    M.propose(chat, wire.str(event.text))
  end
end

---Sends a message to the model. While a turn is running, it steers the turn or is queued until the
---turn ends.
---@param chat xcsh.chat.Chat
---@param text string
---@param behavior 'steer'|'followUp'
function M.say(chat, text, behavior)
  sent[chat.cwd] = sent[chat.cwd] or {}
  table.insert(sent[chat.cwd], text)
  -- The user wants to see the answer.
  for _, window in ipairs(vim.fn.win_findbuf(chat.bufnr)) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(chat.bufnr), 0 })
  end
  require('xcsh.chat').when_live(chat, function(problem)
    if problem then
      M.give_back(chat, { text })
    else
      send(chat, text, behavior)
    end
  end)
end

---Sends the draft.
---@param chat xcsh.chat.Chat
---@param behavior 'steer'|'followUp'
function M.send(chat, behavior)
  local text = vim.trim(M.text(chat))
  if text ~= '' then
    browsing[chat.input] = nil
    M.set(chat, '')
    M.say(chat, text, behavior)
  end
end

---Stops the turn. Queued messages are put back into the prompt.
---@param chat xcsh.chat.Chat
function M.abort(chat)
  client.execute('xcsh.abort', { cwd = chat.cwd }, function(err, result)
    if err then
      return require('xcsh.chat').notice(chat, err.message, true)
    end
    M.give_back(chat, wire.texts(result.unanswered))
  end)
end

return M
