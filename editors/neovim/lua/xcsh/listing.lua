-- Lists of sessions and trees of entries, a page at a time, in buffers with keys.

local inputs = require('xcsh.inputs')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---Requests the next page of a result, and shows it with the result so far.
---@param name string
---@param args table<string, any> the arguments of the first page
---@param cursor string
---@param show fun(page: any)
local function next_page(name, args, cursor, show)
  local intent = require('xcsh.intent').begin()
  local more = vim.tbl_extend('force', args, { cursor = cursor })
  require('xcsh.client').execute(name, more, function(err, result)
    intent:finish()
    if err then
      return view.error(err)
    end
    view.present(intent, args.cwd, function()
      show(result)
    end)
  end)
end

local more_line = '… more (press <CR>)'

---Shows the sessions in a buffer with keys for actions on them.
---@param sessions xcsh.SessionInfo[]
---@param cwd string
---@param args table<string, any>
---@param cursor string of more sessions, or ""
function M.list(sessions, cwd, args, cursor)
  local lines = vim.tbl_map(inputs.session_line, sessions)
  if cursor ~= '' then
    lines[#lines + 1] = more_line
  end
  local bufnr = view.scratch('sessions', lines)
  local everywhere = args.scope == 'all'
    or vim.iter(sessions):any(function(session)
      return session.cwd ~= cwd
    end)
  local function again(other)
    local scope = args.scope == 'team' and 'team' or everywhere and 'all' or nil
    if other then
      scope = other ~= scope and other or nil
    end
    require('xcsh.commands').run('xcsh.list', { cwd = cwd, scope = scope })
  end
  local function map(lhs, desc, run)
    vim.keymap.set('n', lhs, function()
      local session = sessions[vim.api.nvim_win_get_cursor(0)[1]]
      if session then
        return run(session)
      elseif cursor ~= '' then
        next_page('xcsh.list', args, cursor, function(page)
          local all = vim.list_extend(vim.list_slice(sessions), wire.tbl(page.sessions))
          M.list(all, cwd, args, wire.str(page.nextCursor))
        end)
      end
    end, { buffer = bufnr, nowait = true, desc = 'xcsh: ' .. desc })
  end
  map('<CR>', 'resume', function(session)
    local target = require('xcsh.team.rows').target(session)
    require('xcsh.commands').run('xcsh.resume', { cwd = cwd, target = target })
  end)
  map('p', 'show the conversation', function(session)
    require('xcsh.commands').run('xcsh.dump', { cwd = cwd, source = session.path })
  end)
  for _, action in ipairs(require('xcsh.pickers.sessions').actions(cwd, again)) do
    map(action.key, action.does, action.run)
  end
end

---Deeper entries of the tree are not indented further.
local max_depth = 20

---Renders the tree. Parents come before their children, and an only child keeps its parent's depth,
---so that a conversation without branches is a straight column.
---@param nodes xcsh.TreeNode[]
---@param leaf any
---@param args table<string, any>
---@param cursor string of more nodes, or ""
function M.tree(nodes, leaf, args, cursor)
  local children, depth, lines = {}, {}, {}
  local function parent(node)
    return type(node.parentId) == 'string' and node.parentId or ''
  end
  for _, node in ipairs(nodes) do
    children[parent(node)] = (children[parent(node)] or 0) + 1
  end
  for _, node in ipairs(nodes) do
    local above = depth[parent(node)] or 0
    depth[node.id] = children[parent(node)] > 1 and above + 1 or above
    local mark = node.id == leaf and '* ' or '  '
    local line = mark .. ('  '):rep(math.min(depth[node.id], max_depth)) .. inputs.entry_line(node)
    local count = wire.num(node.count)
    lines[#lines + 1] = count > 1 and ('%s · %d entries'):format(line, count) or line
  end
  if cursor ~= '' then
    lines[#lines + 1] = more_line
  end
  local bufnr = view.scratch('tree', lines)
  vim.keymap.set('n', '<CR>', function()
    if cursor ~= '' and vim.api.nvim_win_get_cursor(0)[1] > #nodes then
      next_page('xcsh.tree', args, cursor, function(page)
        local all = vim.list_extend(vim.list_slice(nodes), wire.tbl(page.nodes))
        M.tree(all, leaf, args, wire.str(page.next))
      end)
    end
  end, { buffer = bufnr, nowait = true, desc = 'xcsh: load more entries' })
end

return M
