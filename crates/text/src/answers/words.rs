//! The recognized words of an answer, separated by bars: half width, lower case, simplified
//! characters.

/// They mean yes.
pub(super) const YES: &str = "\
    y|yes|yeah|yea|yep|yup|ya|ok|okay|okey|k|sure|of course|absolutely|certainly|definitely|\
    right|correct|affirmative|fine|agreed|agree|i agree|approve|approved|i approve|allow|\
    allow it|allowed|accept|accepted|confirm|confirmed|i confirm|go|go ahead|go for it|\
    go on|do it|do that|do so|run it|run|proceed|continue|carry on|carry it out|sounds good|\
    looks good|lgtm|good|great|perfect|no problem|no worries|no objection|no objections|\
    why not|by all means|be my guest|all right|alright|works for me|that's fine|\
    that is fine|that's ok|that's okay|it's fine|it's ok|it is ok|you may|you can|1|👍|✅|\
    是|是的|对|对的|嗯|恩|嗯哼|好|好的|行|可以|可|成|中|同意|批准|准|准许|确认|确定|没问题|\
    没有问题|没事|没意见|没有意见|允许|许可|通过|执行|执行它|做|去做|干|去|开始|继续|来|\
    运行|跑|当然|当然可以|必须的|没错|正确|要|需要|好嘞|妥|赞成|认可|放行|愿意";

/// They also allow the same in the future.
pub(super) const ALWAYS: &str = "\
    a|always|always allow|allow always|always yes|from now on|every time|always allow it|\
    总是|总是允许|总是可以|一直|一直允许|一直可以|永远|永远允许|始终|始终允许|以后都允许|\
    以后都可以|以后都行|以后也允许|以后一直允许|以后总是允许|每次都允许|每次都可以|都允许|\
    今后都允许";

/// After a yes they mean always; alone they are ambiguous.
pub(super) const AGAIN: &str = "\
    don't ask again|do not ask again|don't ask me again|stop asking|不用再问|不要再问|\
    别再问|不再询问|不再问|以后不用问|以后别问|以后不用再问";

/// They mean no.
pub(super) const NO: &str = "\
    n|no|nope|nah|nay|never|no way|not now|not yet|not this|not this time|don't|dont|do not|\
    don't do it|don't do that|don't run it|please don't|rather not|i'd rather not|\
    better not|stop|stop it|stop that|cancel|cancel it|cancel that|abort|decline|declined|\
    deny|denied|reject|rejected|refuse|refused|disallow|forbid|never mind|nevermind|\
    forget it|no thanks|no thank you|👎|❌|不|不了|不用|不用了|不要|不要了|不行|不可以|不可|\
    不能|不好|不是|不对|不同意|不允许|不许|不准|不批准|不确认|不执行|不必|不成|不必了|\
    不需要|不想|别|别了|别做|别执行|别动|算了|取消|停|停下|停止|停一下|中止|终止|否|拒绝|\
    禁止|驳回|免了|先不|先不要|先不用|暂不|暂时不要|暂时不用|否决|反对";

/// They ask for a change of what was proposed.
pub(super) const EDIT: &str = "\
    e|edit|edit it|change|change it|modify|修改|改|改一下|编辑|改改";

/// They add nothing to the words around them.
pub(super) const FILLER: &str = "\
    please|pls|plz|thanks|thank you|thx|then|now|it|that|this|this once|this time|\
    just this once|only this once|once|just once|only once|and|sir|mate|well|oh|um|i|we|so|\
    的|了|吧|啊|呀|啦|哦|噢|喔|呗|嘛|哈|嘞|滴|谢谢|谢谢你|多谢|请|麻烦|麻烦了|辛苦了|我|那|\
    那就|就|就这样|这次|这一次|就这一次|就这次|仅此一次|一次|它|都|也|呢|咯|喽";

/// Alone they mean yes.
pub(super) const PLEASE: &str = "\
    please|pls|plz|请";

/// A yes with one of these is not a yes: it allows something else.
pub(super) const CONDITIONS: &str = "\
    but|only|except|if|unless|however|instead|first|without|not|don't|after|before|until|\
    when|rather|另|但|不过|只|除了|除非|如果|要是|先|别|不要|不能|不许|可是|然而|换|改|等|\
    之后|以后再|之前|仅|另外|don't stop|do not stop|don't cancel|不要停|别停|不要取消|别取消";

/// A reason may follow these after a space.
pub(super) const LEAD: &str = "\
    n|no|nope|nah|don't|dont|do not|never|please don't|不|不要|不行|不用|不可以|不同意|别|\
    否|拒绝";

/// A reason may follow these at once: "不要删除".
pub(super) const GLUED: &str = "\
    不要|别|不许|不准|先不要|暂时不要";

/// These change the meaning of the no before them: "no idea", "别的", "不要紧".
pub(super) const TURNED: &str = "\
    need|idea|clue|matter|one|doubt|worry|stop|ask|mind|care|know|understand|bother|forget|\
    hesitate|sure|longer|more|紧|的|人|问|担|停|忘|管|客|急|怕|介意|再问";

/// Alone they ask to stop what is going on.
pub(super) const STOP: &str = "\
    取消|取消吧|取消任务|取消这个任务|停|停下|停止|停一下|停吧|中止|终止|停止任务|cancel|\
    cancel it|cancel this|cancel that|cancel the task|cancel task|stop|stop it|stop this|\
    abort";

/// A call with an unknown outcome happened.
pub(super) const HAPPENED: &str = "\
    1|happened|it happened|it did|did happen|done|it was done|发生了|发生|发生过|已发生|\
    已经发生|已经发生了|执行了|已执行|已经执行了|成功了|做了|有";

/// It did not happen.
pub(super) const DID_NOT: &str = "\
    2|not|it did not|it didn't|did not|didn't|did not happen|didn't happen|\
    it did not happen|it didn't happen|not done|没有发生|没有|没发生|没|未发生|没有执行|\
    没执行|没做|未执行";

/// The tool should check itself.
pub(super) const LOOK: &str = "\
    3|probe|look|check|check for me|check it|look for me|查看|看看|探查|检查|查一下|核实|\
    去核实|看一下|你看看|帮我看看|让工具看|不知道|不清楚|不确定|not sure|don't know|\
    i don't know|dunno|unknown|unsure|未知";

/// Alone they leave.
pub(super) const LEAVE: &str = "\
    exit|quit|:q|:q!|bye|退出|再见|离开";

/// Alone they ask for help.
pub(super) const HELP: &str = "\
    ?|help|帮助";

/// They put a question off.
pub(super) const LATER: &str = "\
    later|skip|not now|skip it|稍后|以后|以后再说|跳过|先放着|回头再说|等会|等会儿|\
    一会儿再说";

/// A correction begins with these, and goes on with what is right.
pub(super) const CORRECTS: &str = "\
    改成|改到|改为|改在|换成|换到|推到|推迟到|提前到|应该是|应该在|是|定在|安排在|在|\
    我说的是|make it|change it to|change to|move it to|move to|i meant|i mean|it's|it is|at|\
    on|to";
