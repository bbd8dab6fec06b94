-- Navigation between the branches of a conversation, at its prompts.

local client = require('xcsh.client')
local inputs = require('xcsh.inputs')
local render = require('xcsh.chat.render')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

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

---@class xcsh.chat.Tree
---@field nodes table<string, xcsh.TreeNode>
---@field children table<string, xcsh.TreeNode[]>

---@param nodes xcsh.TreeNode[]
---@return xcsh.chat.Tree
local function index(nodes)
  local tree = { nodes = {}, children = {} }
  for _, node in ipairs(nodes) do
    tree.nodes[node.id] = node
    local parent = wire.str(node.parentId)
    tree.children[parent] = tree.children[parent] or {}
    table.insert(tree.children[parent], node)
  end
  return tree
end

---Returns the first message of a branch, which serves as its name.
---@param tree xcsh.chat.Tree
---@param node xcsh.TreeNode
local function first_message(tree, node)
  while node.type ~= 'message' and (tree.children[node.id] or {})[1] do
    node = tree.children[node.id][1]
  end
  return node
end

---Returns the newest leaf of a branch.
---@param tree xcsh.chat.Tree
---@param node xcsh.TreeNode
local function newest_leaf(tree, node)
  local children = tree.children[node.id]
  while children and #children > 0 do
    node = children[#children]
    children = tree.children[node.id]
  end
  return node
end

---Returns the branches that begin at a prompt, including the current one.
---@param nodes xcsh.TreeNode[]
---@param entry_id string
---@return { node: xcsh.TreeNode, leaf: xcsh.TreeNode, current: boolean }[]
function M.alternatives(nodes, entry_id)
  local tree = index(nodes)
  local found = {}
  local node = tree.nodes[entry_id]
  -- Other entries, such as a model change, can lie between a prompt and the message before it; a
  -- branch can begin at any of them.
  while node do
    for _, other in ipairs(tree.children[wire.str(node.parentId)] or {}) do
      if other ~= node then
        local leaf = newest_leaf(tree, other)
        table.insert(found, { node = first_message(tree, other), leaf = leaf, current = false })
      end
    end
    node = tree.nodes[wire.str(node.parentId)]
    if node and node.type == 'message' then
      break
    end
  end
  return found
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
---@param found { node: xcsh.TreeNode, leaf: xcsh.TreeNode }[]
local function offer(chat, found)
  vim.ui.select(found, {
    prompt = 'Go to branch',
    kind = 'xcsh.branch',
    format_item = function(branch)
      return inputs.entry_line(branch.node)
    end,
  }, function(branch)
    if branch then
      go(chat, { entryId = branch.leaf.id })
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
  client.execute('xcsh.tree', { cwd = chat.cwd }, function(err, result)
    intent:finish()
    if err then
      return view.error(err)
    end
    local found = M.alternatives(wire.tbl(result.nodes), item.entryId)
    if #found == 0 then
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
