-- Navigation between the branches of a conversation, at its prompts.

local client = require('xcsh.client')
local inputs = require('xcsh.inputs')
local render = require('xcsh.chat.render')
local tree = require('xcsh.tree')
local view = require('xcsh.view')

local M = {}

---@param chat xcsh.chat.Chat
---@return xcsh.chat.Item?
local function prompt_here(chat)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local item = render.prompt_at(chat.bufnr, row)
  if not item or item.entryId == '' then
    view.notify('No message here.')
    return nil
  end
  return item
end

---@param chat xcsh.chat.Chat
---@param args table
local function go(chat, args)
  args.cwd = chat.cwd
  client.execute('xcsh.branch', args, function(err, result)
    if err then
      return view.error(err)
    end
    if type(result.editorText) == 'string' then
      require('xcsh.chat').edit(chat.cwd, result.editorText)
    end
  end)
end

---@param chat xcsh.chat.Chat
---@param found xcsh.tree.Branch[]
local function offer(chat, found)
  require('xcsh.pickers.select').choose(found, {
    prompt = 'Go to branch',
    kind = 'xcsh.branch',
    format_item = function(branch)
      return inputs.entry_line(branch.node)
    end,
  }, function(branch)
    if branch then
      go(chat, { entryId = branch.leaf })
    end
  end)
end

---Offers the other branches that begin at the prompt at the cursor.
---@param chat xcsh.chat.Chat
function M.switch(chat)
  local item = prompt_here(chat)
  if not item then
    return
  end
  local intent = require('xcsh.intent').begin()
  tree.alternatives({ cwd = chat.cwd }, item.entryId, function(err, found)
    intent:finish()
    if err or not found then
      return view.error(err or { message = 'The branches could not be read.' })
    elseif #found == 0 then
      return view.notify('No other branch starts here.')
    end
    intent:show(chat.cwd, 'Go to branch', function()
      offer(chat, found)
    end)
  end)
end

---Goes back to before the prompt at the cursor and puts it into the prompt window for editing.
---Later messages are kept as another branch.
---@param chat xcsh.chat.Chat
function M.edit(chat)
  local item = prompt_here(chat)
  if item then
    require('xcsh.chat.windows').show(chat)
    go(chat, { entryId = item.entryId })
  end
end

---Undoes what was done since before the prompt at the cursor.
---@param chat xcsh.chat.Chat
function M.rewind(chat)
  local item = prompt_here(chat)
  if item then
    local said = require('xcsh.chat.prompt').words(item)
    require('xcsh.rewind').choose_way(chat.cwd, item.entryId, said)
  end
end

---Forks the session before the prompt at the cursor and continues in the copy.
---@param chat xcsh.chat.Chat
function M.fork(chat)
  local item = prompt_here(chat)
  if not item then
    return
  end
  local args = { cwd = chat.cwd, entryId = item.entryId, position = 'before' }
  require('xcsh.chat.windows').show(chat)
  client.execute('xcsh.fork', args, function(err, result)
    if err then
      return view.error(err)
    end
    if not result.forked then
      return view.notify('The fork was canceled.', vim.log.levels.WARN)
    end
    if type(result.editorText) == 'string' then
      require('xcsh.chat').edit(chat.cwd, result.editorText)
    end
  end)
end

return M
